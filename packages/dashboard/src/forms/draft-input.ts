/** The props of fields for a draft. */
export type DraftProps<Draft> = { draft: Draft; onChange(change: Partial<Draft>): void }

type Event = { target: { value: string } }

/** Returns the props of an input for one text of a draft. */
export function draftInput<Key extends string, Draft extends Readonly<Record<Key, string>>>(
  draft: Draft,
  key: Key,
  onChange: (change: Pick<NoInfer<Draft>, Key>) => void,
): { value: string; onChange(event: Event): void } {
  return {
    value: draft[key],
    onChange: ({ target }) => onChange({ [key]: target.value } as Pick<Draft, Key>), // one of the options
  }
}

/** Returns the props of a field that passes its value, for one value of a draft. */
export function draftValue<Draft, Key extends keyof Draft>(
  draft: Draft,
  key: Key,
  onChange: (change: Pick<NoInfer<Draft>, Key>) => void,
): { value: Draft[Key]; onChange(value: Draft[Key]): void } {
  return { value: draft[key], onChange: value => onChange({ [key]: value } as Pick<Draft, Key>) }
}
