"""The agent: code in the user's process. Python 3.8, standard library only; it never prints, raises, or changes a result.

It is loaded from its folder under the name `_gpudoctor_agent`, without gpudoctor: the user's environment need not have it.
"""
