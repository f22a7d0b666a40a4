"""Documents that nearly say the same, or say the same in other words: found, labelled, never merged."""
