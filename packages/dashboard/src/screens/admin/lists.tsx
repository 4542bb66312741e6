import type { Tenant } from '@belfry/contract/operator'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Building2, MailX, Radar, ScrollText } from 'lucide-react'
import { call } from '../../api/call.ts'
import { pagesOf, queryOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { ChangeButton } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { paths } from '../../paths.ts'
import { Badge } from '../../ui/badge.tsx'
import { optionsOf, TextField } from '../../ui/field.tsx'
import { FilterBar, SelectFilter, useFilters } from '../../ui/filter-bar.tsx'
import { formatBytes, formatCount } from '../../ui/format-amount.ts'
import { RelativeTime } from '../../ui/time.tsx'
import { wordsOf } from '../../ui/words-of.ts'

const states = optionsOf({ true: 'Suspended', false: 'Active' })

const orders = optionsOf({
  in_flight: 'Most in flight',
  rate: 'Most runs per minute',
  executions: 'Most executions',
  storage: 'Most storage',
  failed_today: 'Most dead tasks today',
  mails: 'Most mails',
})

export function Tenants() {
  const filters = useFilters(['search', 'suspended', 'sort'])
  return (
    <ResourceList
      title="Organizations"
      description="All organizations of this installation, with their current usage."
      list={useInfiniteQuery(pagesOf('listTenants', { query: { ...filters.values, limit: 50 } }))}
      filters={
        <FilterBar filters={filters} search={{ name: 'search', label: 'Name, slug or owner' }}>
          <SelectFilter filters={filters} name="suspended" label="State" all="All states" options={states} />
          <SelectFilter filters={filters} name="sort" label="Order" all="Newest" options={orders} />
        </FilterBar>
      }
      onClear={filters.isSet && filters.clear}
      empty={{ icon: Building2, title: 'No organizations', children: 'New organizations appear here.' }}
      rowLink={({ id }) => paths.admin.tenant(id)}
      columns={[
        { header: 'Name', cell: ({ name }) => name },
        { header: 'State', isTight: true, cell: tenant => <TenantState tenant={tenant} /> },
        { header: 'Owner', isExtra: true, cell: ({ account }) => account?.email ?? 'None' },
        { header: 'Tier', cell: ({ tier }) => wordsOf(tier) },
        { header: 'In flight', align: 'end', cell: ({ in_flight }) => formatCount(in_flight) },
        { header: 'Runs/min', align: 'end', isExtra: true, cell: one => formatCount(Math.round(one.runs_per_minute)) },
        { header: 'Executions', align: 'end', cell: ({ executions }) => formatCount(executions) },
        { header: 'Storage', align: 'end', isExtra: true, cell: ({ storage_bytes }) => formatBytes(storage_bytes) },
        { header: 'Dead today', align: 'end', cell: ({ failed_today }) => formatCount(failed_today) },
        { header: 'Mails', align: 'end', isExtra: true, cell: ({ mails }) => formatCount(mails) },
      ]}
    />
  )
}

export function TenantState({ tenant }: { tenant: Pick<Tenant, 'account' | 'suspended_at'> }) {
  if (tenant.suspended_at) return <Badge tone="bad">Suspended</Badge>
  if (tenant.account?.suspended_at) return <Badge tone="bad">Owner suspended</Badge>
  return <Badge tone="good">Active</Badge>
}

export function Hosts() {
  const filters = useFilters(['host'])
  const host = filters.first('host')
  return (
    <ResourceList
      title="Hosts"
      description="The workspaces that call a host: among the newest 100,000 tasks, cron jobs and subscriptions."
      list={useQuery({ ...queryOf('findTargets', { query: { host } }), enabled: host !== '' })}
      filters={<FilterBar filters={filters} search={{ name: 'host', label: 'Host, such as hooks.example.com' }} />}
      empty={{
        icon: Radar,
        title: host === '' ? 'Enter a host' : 'No calls',
        children: host === '' ? 'Enter a host, with its port if it has one.' : `No workspace calls ${host}.`,
      }}
      rows={host === '' ? [] : undefined}
      rowKey={({ workspace_id }) => workspace_id}
      rowLink={({ organization_id }) => paths.admin.tenant(organization_id)}
      columns={[
        { header: 'Organization', cell: ({ organization_name }) => organization_name },
        { header: 'Workspace', cell: ({ workspace_name }) => workspace_name },
        { header: 'Tasks', align: 'end', cell: ({ tasks }) => formatCount(tasks) },
        { header: 'Cron jobs', align: 'end', cell: ({ cron_jobs }) => formatCount(cron_jobs) },
        { header: 'Subscriptions', align: 'end', cell: ({ subscriptions }) => formatCount(subscriptions) },
      ]}
    />
  )
}

export function BlockedAddresses() {
  const filters = useFilters(['search'])
  return (
    <ResourceList
      title="Blocked addresses"
      description="Belfry sends no alerts and no invitations to these email addresses. Mails about their own accounts are still sent."
      list={useInfiniteQuery(pagesOf('listBlockedAddresses', { query: { search: filters.first('search') } }))}
      create={{ label: 'Block address' }}
      form={() => (
        <Form
          read={fields => {
            const reason = fields('reason').trim()
            return { email: fields('email').trim(), ...(reason === '' ? {} : { reason }) }
          }}
          submit={body => call('blockAddress', { body })}
          done={(_, { email }) => `${email} is blocked`}
          action="Block address"
        >
          <TextField label="Email address" name="email" type="email" autoFocus />
          <TextField label="Reason (only in the operator log)" name="reason" maxLength={500} />
        </Form>
      )}
      filters={<FilterBar filters={filters} search={{ name: 'search', label: 'Email address' }} />}
      onClear={filters.isSet && filters.clear}
      empty={{
        icon: MailX,
        title: 'No blocked addresses',
        children: 'Recipients who have unsubscribed from alerts are not listed here.',
        actions: null,
      }}
      rowKey={({ email }) => email}
      columns={[
        { header: 'Email address', cell: ({ email }) => email },
        { header: 'Blocked', cell: ({ blocked_at }) => <RelativeTime at={blocked_at} /> },
      ]}
      actions={({ email }) => (
        <ChangeButton
          text="Unblock"
          run={() => call('unblockAddress', { body: { email } })}
          done={`${email} is no longer blocked`}
        />
      )}
    />
  )
}

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
