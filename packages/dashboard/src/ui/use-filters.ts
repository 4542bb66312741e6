import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'react-router'

export type Filters<Name extends string> = {
  /** The filters that are set, as lists, for an API query. */
  values: Readonly<Partial<Record<Name, string[]>>>
  first(name: Name): string
  set(name: Name, value: string | readonly string[]): void
  clear(): void
  isSet: boolean
}

/** Keeps filters in the URL, so links contain them and the Back button undoes them. */
export function useFilters<const Name extends string>(names: readonly Name[]): Filters<Name> {
  const [params, setParams] = useSearchParams()
  const key = names.join()
  const values = useMemo(() => {
    const set = (key.split(',') as Name[]).map(name => [name, params.getAll(name).filter(Boolean)] as const) // split is the inverse of join
    return Object.fromEntries(set.filter(([, all]) => all.length > 0)) as Partial<Record<Name, string[]>>
  }, [params, key])
  const set = useCallback(
    (name: Name, value: string | readonly string[]) =>
      setParams(before => {
        const next = new URLSearchParams(before)
        next.delete(name)
        for (const one of [value].flat()) if (one !== '') next.append(name, one)
        return next
      }),
    [setParams],
  )
  return {
    values,
    set,
    first: name => values[name]?.[0] ?? '',
    clear: () => setParams({}),
    isSet: Object.keys(values).length > 0,
  }
}
