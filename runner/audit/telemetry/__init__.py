"""Sends what is recorded to a log store, where a person has configured one."""
