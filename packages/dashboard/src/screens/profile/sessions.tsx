import type { Session } from '@belfry/contract/auth'
import { useInfiniteQuery } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { endOtherSessions, endSession, sessionsQuery } from '../../api/session.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './profile.module.css'

/** The sessions of the user, each of which the user can end. */
export function Sessions(): ReactNode {
  const list = useInfiniteQuery(sessionsQuery())
  const [ending, setEnding] = useState<Session | 'others' | null>(null)
  const hasOthers = list.data?.items.some(({ is_current }) => !is_current)
  return (
    <section className={styles.part}>
      <h2>Sessions</h2>
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      <Table
        label="Sessions"
        rows={list.data?.items}
        rowKey={({ id }) => id}
        columns={[
          {
            id: 'device',
            header: 'Device',
            cell: ({ device, address, is_current }) => (
              <span className={styles.device}>
                {device}
                {address && <span className={styles.address}>{address}</span>}
                {is_current && <Badge tone="good">This session</Badge>}
              </span>
            ),
          },
          { id: 'used', header: 'Last used', cell: ({ last_used_at }) => <RelativeTime at={last_used_at} /> },
        ]}
        actions={session =>
          session.is_current ? null : (
            <IconButton
              label={`End the session of ${session.device}`}
              icon={<LogOut size={16} />}
              onClick={() => setEnding(session)}
            />
          )
        }
      />
      <LoadMore {...list} />
      {hasOthers && (
        <div>
          <Button onClick={() => setEnding('others')}>End all other sessions</Button>
        </div>
      )}
      <ConfirmChange
        of={ending}
        onClose={() => setEnding(null)}
        title={of => (of === 'others' ? 'End all other sessions?' : `End the session of ${of.device}?`)}
        description="It must sign in again. Change your password too if you do not recognize it."
        action={ending === 'others' ? 'End sessions' : 'End session'}
        run={of => (of === 'others' ? endOtherSessions() : endSession(of.id))}
        affects={[['sessions']]}
        done={of => (of === 'others' ? 'All other sessions ended' : 'Session ended')}
      />
    </section>
  )
}
