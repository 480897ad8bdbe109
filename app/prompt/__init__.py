"""The compact card of a request that waits, for where the window itself is not looked at."""
