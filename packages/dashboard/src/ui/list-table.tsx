import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import styles from './layout.module.css'
import { Problem } from './problem.tsx'
import { Table, type TableProps } from './table.tsx'

export type ListTableProps<Row> = Omit<TableProps<Row>, 'isWhole' | 'rows'> & {
  list: ListQuery<Row>
  /** Default: the rows of the query. */
  rows?: readonly Row[] | undefined
  /** Shown in place of an empty table. */
  empty?: ReactNode
}

type ListQuery<Row> = {
  data: Rows<Row> | undefined
  error: unknown
  refetch(): unknown
  hasNextPage?: boolean
  isFetchingNextPage?: boolean
  fetchNextPage?(): unknown
}

type Rows<Row> = readonly Row[] | { items: readonly Row[] } | { data: readonly Row[] }

/** The table of a list: with its error, and a button for the next page. */
export function ListTable<Row>({ list, empty, rows = rowsOf(list.data), ...table }: ListTableProps<Row>) {
  const { hasNextPage, isFetchingNextPage } = list
  const isEmpty = empty !== undefined && rows?.length === 0
  const hasFailed = Boolean(list.error)
  return (
    <>
      {hasFailed && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {isEmpty && (hasNextPage ? <p>No match among the newest ones. Load more to search older ones.</p> : empty)}
      {/* Without rows, a table would look as if it were loading. */}
      {!isEmpty && !(hasFailed && rows === undefined) && <Table {...table} rows={rows} isWhole={!hasNextPage} />}
      {hasNextPage && (
        <div className={styles.pager}>
          <Button isPending={isFetchingNextPage} onClick={() => void list.fetchNextPage?.()}>
            {isFetchingNextPage ? 'Loading…' : 'Load more'}
          </Button>
        </div>
      )}
    </>
  )
}

function rowsOf<Row>(data: Rows<Row> | undefined): readonly Row[] | undefined {
  if (data === undefined || !('items' in data || 'data' in data)) return data
  return 'items' in data ? data.items : data.data
}
