import type { TenantDetail } from '@belfry/contract/operator'
import { type TierName, tierNames } from '@belfry/domain/tiers'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useParams } from 'react-router'
import { call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { ConfirmButton } from '../../layout/change-buttons.tsx'
import { paths } from '../../paths.ts'
import { Card, Stack } from '../../ui/card.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { formatBytes, formatCount, formatCounted } from '../../ui/format-amount.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { wordsOf } from '../../ui/words-of.ts'
import styles from '../settings/settings.module.css'
import { TenantState } from './lists.tsx'

export function TenantPage() {
  const { org = '' } = useParams()
  return <Loaded query={useQuery(queryOf('getTenant', { org }))}>{tenant => <Details tenant={tenant} />}</Loaded>
}

function Details({ tenant }: { tenant: TenantDetail }) {
  return (
    <Stack>
      <PageHeader
        title={tenant.name}
        parent={{ label: 'Organizations', to: paths.admin.tenants() }}
        badge={<TenantState tenant={tenant} />}
        actions={<SuspendButton kind="Organization" id={tenant.id} name={tenant.name} at={tenant.suspended_at} />}
      />
      <Card>
        <DefinitionList
          rows={{
            Slug: tenant.slug,
            Tier: <TierSelect tenant={tenant} />,
            'Calls in flight': formatCount(tenant.in_flight),
            'Runs per minute': formatCount(Math.round(tenant.runs_per_minute)),
            'Executions this month': formatCount(tenant.executions),
            Storage: formatBytes(tenant.storage_bytes),
            'Dead today': formatCount(tenant.failed_today),
            'Mails in 24 hours': formatCount(tenant.mails),
            Created: <RelativeTime at={tenant.created_at} />,
          }}
        />
      </Card>
      <h2>Workspaces</h2>
      <Table
        label="Workspaces"
        rows={tenant.workspace_list}
        columns={[
          { header: 'Name', cell: ({ name }) => name },
          { header: 'In flight', align: 'end', cell: ({ in_flight }) => formatCount(in_flight) },
        ]}
        actions={({ id, name, suspended_at }) => (
          <SuspendButton kind="Workspace" id={id} name={name} at={suspended_at} />
        )}
      />
      <h2>Members</h2>
      <Table
        label="Members"
        rows={tenant.member_list}
        rowKey={({ user_id }) => user_id}
        columns={[
          { header: 'Email', cell: ({ email }) => email },
          { header: 'Role', cell: ({ role }) => wordsOf(role) },
          {
            header: 'Second factor',
            cell: ({ user_id, email, has_second_factor }) =>
              has_second_factor && (
                <ConfirmButton
                  text="Reset"
                  title={`Remove the second factors of ${email}?`}
                  description="For a user who has lost them. All sessions of the user end, and the user gets a mail."
                  action="Remove second factors"
                  run={() => call('resetFactors', { user: user_id, body: {} })}
                  done={`Second factors of ${email} removed`}
                />
              ),
          },
        ]}
        actions={({ user_id, email, suspended_at }) => (
          <SuspendButton kind="User" id={user_id} name={email} at={suspended_at} />
        )}
      />
    </Stack>
  )
}

function TierSelect({ tenant }: { tenant: TenantDetail }) {
  const { id, name, tier } = tenant
  const [wanted, setWanted] = useState<TierName | null>(null)
  return (
    <div className={styles.inline}>
      <Select
        aria-label="Tier"
        value={tier}
        onChange={event => setWanted(event.target.value as TierName)} // one of the options
        options={tierNames.map(value => ({ value, label: wordsOf(value) }))}
      />
      <ConfirmChange
        isOpen={wanted !== null}
        onClose={() => setWanted(null)}
        title={`Change ${name} to ${wanted && wordsOf(wanted)}?`}
        description={wanted && consequenceOf(tenant, wanted)}
        action="Change tier"
        run={() => call('setTier', { org: id, body: { tier: wanted ?? tier } })}
        done={`Tier of ${name} changed`}
      />
    </div>
  )
}

function consequenceOf(tenant: TenantDetail, wanted: TierName): string {
  const { executions, storage_bytes: bytes, due_tasks: due } = tenant
  const limits = tenant.tier_limits.find(({ tier }) => tier === wanted)
  const limitOf = (limit: number | null | undefined, format: (amount: number) => string) =>
    limit == null ? 'no limit' : `a limit of ${format(limit)}`
  const isOver = executions >= (limits?.executions ?? Infinity) || bytes > (limits?.storage_bytes ?? Infinity)
  const usage = `It has ${formatCount(executions)} executions this month, with ${limitOf(limits?.executions, formatCount)}, and stores ${formatBytes(bytes)}, with ${limitOf(limits?.storage_bytes, formatBytes)}.`
  if (!isOver) return `${usage} No task is cancelled now.`
  return `${usage} Due tasks are cancelled at once, ${formatCounted(due)} now, and its owners get a mail.`
}

type SuspendButtonProps = { kind: 'Organization' | 'Workspace' | 'User'; id: string; name: string; at: string | null }

function SuspendButton({ kind, id, name, at }: SuspendButtonProps) {
  const [reason, setReason] = useState('')
  const action = at === null ? 'Suspend' : 'Resume'
  const body = reason.trim() === '' ? {} : { reason: reason.trim() }
  const operation = `${at === null ? 'suspend' : 'resume'}${kind}` as const
  return (
    <ConfirmButton
      text={action}
      kind={at === null ? 'danger' : 'secondary'}
      title={`${action} ${name}?`}
      description={
        at === null
          ? 'Calls stop within a second, and API requests are rejected. Nothing is deleted: tasks wait.'
          : 'Tasks that are due start at once.'
      }
      action={action}
      isDangerous={false}
      run={() => call(operation, { org: id, ws: id, user: id, body })}
      onDone={() => setReason('')}
      done={at === null ? `${name} is suspended` : `${name} is active again`}
    >
      <TextField
        label="Reason (only in the operator log)"
        name="reason"
        value={reason}
        maxLength={500}
        onChange={event => setReason(event.target.value)}
      />
    </ConfirmButton>
  )
}
