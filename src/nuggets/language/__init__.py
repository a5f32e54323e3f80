"""Words of any language: tokens, stems, stop words, dates, spelling. Knows no note."""
