"""Approval: who may decide a request, in order: earlier choices of a person first, then the person."""
