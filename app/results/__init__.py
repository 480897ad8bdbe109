"""What a run that is over made: its files drawn on cards, the value it handed over, and what it printed."""
