import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { queryOf } from '../api/queries.ts'
import { useWorkspace } from '../session/scope.ts'
import { Badge } from '../ui/badge.tsx'
import { Link } from '../ui/button.tsx'

/** A link to the queues, with the name of one, and whether it is paused. */
export function QueueLink({ name }: { name: string }): ReactNode {
  const { workspace, to } = useWorkspace()
  const { data: queue } = useQuery(queryOf('getQueue', { ws: workspace.id, queue: name }))
  return (
    <>
      <Link to={to.queues()}>
        <code>{name}</code>
      </Link>{' '}
      {queue?.paused_at && <Badge tone="warn">Paused</Badge>}
    </>
  )
}
