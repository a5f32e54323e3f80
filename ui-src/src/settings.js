// Small things kept in this browser; and, for drafts, in this tab until it is closed.

export function readSetting(name, otherwise, storage = "localStorage") {
  try {
    return window[storage].getItem(`nuggets.${name}`) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function saveSetting(name, value, storage = "localStorage") {
  try {
    if (value === null) window[storage].removeItem(`nuggets.${name}`);
    else window[storage].setItem(`nuggets.${name}`, value);
  } catch {
    // a browser that keeps nothing, or is full, still shows everything
  }
}
