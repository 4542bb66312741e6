import type { ReactNode } from 'react'
import { LoadMore, type LoadMoreProps } from './pagination.tsx'
import { Problem } from './problem.tsx'
import { Table, type TableProps } from './table.tsx'

export type ListTableProps<Row> = Omit<TableProps<Row>, 'isWhole'> & {
  /** The query of the rows. */
  list: { error: unknown; refetch(): unknown } & (LoadMoreProps | { hasNextPage?: never })
  /** Shown in place of an empty table. */
  empty?: ReactNode
}

/** The table of a list: with its error, and a button for the next page. */
export function ListTable<Row>({ list, empty, ...table }: ListTableProps<Row>): ReactNode {
  const isEmpty = empty !== undefined && table.rows?.length === 0
  const hasFailed = Boolean(list.error)
  return (
    <>
      {hasFailed && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {isEmpty && list.hasNextPage && <p>No match among the newest ones. Load more to search older ones.</p>}
      {isEmpty && !list.hasNextPage && empty}
      {/* Without rows, a table would look as if it were loading. */}
      {!isEmpty && !(hasFailed && table.rows === undefined) && <Table {...table} isWhole={!list.hasNextPage} />}
      {list.hasNextPage && <LoadMore {...list} />}
    </>
  )
}
