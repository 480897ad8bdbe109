"""The results of a run that is over: its files drawn on cards, the value it handed over, and what it printed."""
