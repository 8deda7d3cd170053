"""The kinds of objects that a plan may depend on.

There is a row for each: all that can be read of an object of the kind is watched, cannot change, or
ends the plan if code that ran names it. What has no row ends the plan.
"""
