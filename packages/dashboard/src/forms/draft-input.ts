type Event = { target: { value: string } }

/** Returns the props of an input for one text of a draft. */
export function draftInput<Key extends string>(
  draft: Readonly<Record<Key, string>>,
  key: Key,
  onChange: (change: Record<Key, string>) => void,
): { value: string; onChange(event: Event): void } {
  return {
    value: draft[key],
    onChange: ({ target }) => onChange({ [key]: target.value } as Record<Key, string>), // one key
  }
}
