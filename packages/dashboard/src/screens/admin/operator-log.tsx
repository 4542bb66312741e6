import { useInfiniteQuery } from '@tanstack/react-query'
import { ScrollText } from 'lucide-react'
import { pagesOf } from '../../api/queries.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { RelativeTime } from '../../ui/time.tsx'

export function OperatorLog() {
  return (
    <ResourceList
      title="Operator log"
      description="Actions of operators. Entries are never edited or deleted."
      list={useInfiniteQuery(pagesOf('listOperatorLog'))}
      empty={{ icon: ScrollText, title: 'No entries', children: 'Suspensions and changes of tiers appear here.' }}
      columns={[
        { header: 'Time', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
        { header: 'Operator', cell: ({ operator, address }) => `${operator} from ${address}` },
        { header: 'Action', cell: ({ action }) => <code>{action}</code> },
        { header: 'Object', isExtra: true, cell: ({ object_id }) => <code>{object_id}</code> },
        {
          header: 'Details',
          cell: ({ details }) =>
            Object.entries(details)
              .map(([name, value]) => `${name}: ${String(value)}`)
              .join(', '),
        },
      ]}
    />
  )
}
