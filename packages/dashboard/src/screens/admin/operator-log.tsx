import { useInfiniteQuery } from '@tanstack/react-query'
import { ScrollText } from 'lucide-react'
import type { ReactNode } from 'react'
import { operatorLogQuery } from '../../api/operator.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'

/** The actions of operators. */
export function OperatorLog(): ReactNode {
  const list = useInfiniteQuery(operatorLogQuery())
  return (
    <>
      <PageHeader title="Operator log" description="Actions of operators. Entries are never edited or deleted." />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.items.length === 0 ? (
        <EmptyState icon={<ScrollText size={22} aria-hidden="true" />} title="No entries">
          Suspensions and changes of tiers appear here.
        </EmptyState>
      ) : (
        <Table
          label="Operator log"
          rows={list.data?.items}
          rowKey={({ id }) => id}
          columns={[
            { id: 'at', header: 'Time', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
            { id: 'operator', header: 'Operator', cell: ({ operator, address }) => `${operator} from ${address}` },
            { id: 'action', header: 'Action', cell: ({ action }) => <code>{action}</code> },
            { id: 'object', header: 'Object', isExtra: true, cell: ({ object_id }) => <code>{object_id}</code> },
            {
              id: 'details',
              header: 'Details',
              cell: ({ details }) =>
                Object.entries(details)
                  .map(([name, value]) => `${name}: ${String(value)}`)
                  .join(', '),
            },
          ]}
        />
      )}
      <LoadMore {...list} />
    </>
  )
}
