import type { AccountEntry } from '@belfry/contract/audit-entry'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { accountLogQuery } from '../../api/session.ts'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './profile.module.css'

const actionTexts: Record<AccountEntry['action'], string> = {
  signed_in: 'Signed in',
  sign_in_failed: 'Failed sign-in',
  signed_out: 'Signed out',
  session_ended: 'Session ended',
  password_reset_requested: 'Password reset requested',
  password_reset: 'Password reset',
  password_changed: 'Password changed',
  factor_added: 'Second factor added',
  factor_removed: 'Second factor removed',
  factors_reset: 'Second factors removed by the operator',
  recovery_code_used: 'Recovery code used',
  recovery_codes_created: 'Recovery codes created',
  identity_linked: 'Linked to single sign-on',
}

/** The sign-ins of the user and the changes of the password. */
export function SecurityLog(): ReactNode {
  const list = useInfiniteQuery(accountLogQuery())
  return (
    <section className={styles.part}>
      <h2>Security log</h2>
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      <Table
        label="Security log"
        rows={list.data?.items}
        rowKey={({ id }) => id}
        columns={[
          { id: 'action', header: 'Action', cell: ({ action }) => actionTexts[action] },
          { id: 'device', header: 'Device', cell: entry => <Device {...entry} /> },
          { id: 'at', header: 'Time', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
        ]}
      />
      <LoadMore {...list} />
    </section>
  )
}

function Device({ device, address }: AccountEntry): ReactNode {
  return (
    <span className={styles.device}>
      {device}
      <span className={styles.address}>{address}</span>
    </span>
  )
}
