import { useCallback } from 'react'
import { useSearchParams } from 'react-router'

type Value = string | readonly string[]

export type Filters<Name extends string> = {
  /** The filters that are set, as lists, for an API query. */
  values: Readonly<Partial<Record<Name, string[]>>>
  first(name: Name): string
  set(name: Name, value: Value): void
  setAll(changes: ReadonlyArray<readonly [Name, Value]>): void
  clear(): void
  isSet: boolean
  /** Values in the URL that the filters do not have, such as `status=bogus`. They have no effect. */
  ignored: readonly string[]
}

/** The values that a filter accepts. Filters without an entry accept any text. */
export type Accepted<Name extends string> = Readonly<Partial<Record<Name, RegExp>>>

/** Keeps filters in the URL, so links contain them and the Back button undoes them. */
export function useFilters<const Name extends string>(
  names: readonly Name[],
  accepted?: Accepted<Name>,
): Filters<Name> {
  const [params, setParams] = useSearchParams()
  const values: Partial<Record<Name, string[]>> = {}
  const ignored: string[] = []
  for (const name of names) {
    for (const value of params.getAll(name).filter(Boolean)) {
      if (accepted?.[name]?.test(value) ?? true) values[name] = [...(values[name] ?? []), value]
      else ignored.push(`${name}=${value}`)
    }
  }
  const setAll = useCallback(
    (changes: ReadonlyArray<readonly [Name, Value]>) =>
      setParams(before => {
        const next = new URLSearchParams(before)
        for (const [name, value] of changes) {
          next.delete(name)
          for (const one of [value].flat()) if (one !== '') next.append(name, one)
        }
        return next
      }),
    [setParams],
  )
  const set = useCallback((name: Name, value: Value) => setAll([[name, value]]), [setAll])
  return {
    values,
    set,
    setAll,
    first: name => values[name]?.[0] ?? '',
    clear: () => setParams({}),
    isSet: Object.keys(values).length > 0 || ignored.length > 0,
    ignored,
  }
}
