"""The built-in checks: the first plug-in, found through the public entry-point group like anyone's."""
