import type { ReactNode } from 'react'
import { Problem } from './problem.tsx'
import { Skeleton } from './table.tsx'

type LoadedProps<Data> = {
  query: { data: Data | undefined; error: unknown; refetch(): unknown }
  children(data: Data): ReactNode
}

/** Shows the data of a query, its error, or a placeholder while it is read. */
export function Loaded<Data>({ query: { data, error, refetch }, children }: LoadedProps<Data>) {
  return (
    <>
      {Boolean(error) && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined ? !error && <Skeleton /> : children(data)}
    </>
  )
}
