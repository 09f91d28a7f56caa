"""Scripts that run under the examined interpreter: Python 3.8, standard library only, never imported by gpudoctor."""
