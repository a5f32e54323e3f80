"""The algebra of phasor vectors (FHRR): seeds, binding, superposition, clean-up, scores."""
