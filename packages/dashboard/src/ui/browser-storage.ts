type Kind = 'localStorage' | 'sessionStorage'

/** Returns a value that the browser keeps, or null if it is missing or storage is blocked. */
export function readStored(key: string, kind: Kind = 'localStorage'): string | null {
  try {
    return window[kind].getItem(key)
  } catch {
    return null
  }
}

/** Keeps a value in the browser; null removes it. Returns false where storage is blocked or full. */
export function store(key: string, value: string | null, kind: Kind = 'localStorage'): boolean {
  try {
    if (value === null) window[kind].removeItem(key)
    else window[kind].setItem(key, value)
    return true
  } catch {
    return false // the choice lasts until the page is closed
  }
}

/** Returns the value of a JSON text; null for any other text. */
export function parseStored(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}
