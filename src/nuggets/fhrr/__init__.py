"""The algebra of phasor vectors (FHRR): seeds, bindings, superpositions, clean-up, scores."""
