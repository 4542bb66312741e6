import { useCallback, useMemo, useState } from 'react'
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

/**
 * Keeps filters in the URL, so links contain them and the Back button undoes them.
 * @param accepted - A constant: it is read once.
 */
export function useFilters<const Name extends string>(
  names: readonly Name[],
  accepted?: Accepted<Name>,
): Filters<Name> {
  const [patterns] = useState(accepted)
  const [params, setParams] = useSearchParams()
  const key = names.join()
  const { values, ignored } = useMemo(() => {
    const isAccepted = (name: Name, value: string) => patterns?.[name]?.test(value) ?? true
    // split is the inverse of join
    const all = (key.split(',') as Name[]).map(name => [name, params.getAll(name).filter(Boolean)] as const)
    const set = all.map(([name, given]) => [name, given.filter(value => isAccepted(name, value))] as const)
    return {
      values: Object.fromEntries(set.filter(([, given]) => given.length > 0)) as Partial<Record<Name, string[]>>,
      ignored: all.flatMap(([name, given]) =>
        given.filter(value => !isAccepted(name, value)).map(value => `${name}=${value}`),
      ),
    }
  }, [params, key, patterns])
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
