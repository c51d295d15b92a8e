"""The messages and the service ``arrastre.v1``, generated from the ``.proto`` files beside this module."""
