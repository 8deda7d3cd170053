"""Texts for people: reasons, reports and short descriptions."""
