import type { Tenant } from '@belfry/contract/operator'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Building2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { pagesOf } from '../../api/queries.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { paths } from '../../paths.ts'
import { Badge } from '../../ui/badge.tsx'
import { optionsOf } from '../../ui/field.tsx'
import { FilterBar, SearchFilter, SelectFilter } from '../../ui/filter-bar.tsx'
import { formatBytes, formatCount } from '../../ui/format-amount.ts'
import { useFilters } from '../../ui/use-filters.ts'
import { tierLabels } from '../settings/tier-labels.ts'

const states = optionsOf({ true: 'Suspended', false: 'Active' })

const orders = optionsOf({
  in_flight: 'Most in flight',
  rate: 'Most runs per minute',
  executions: 'Most executions',
  storage: 'Most storage',
  failed_today: 'Most dead tasks today',
  mails: 'Most mails',
})

export function Tenants(): ReactNode {
  const filters = useFilters(['search', 'suspended', 'sort'])
  return (
    <ResourceList
      title="Organizations"
      description="All organizations of this installation, with their current usage."
      list={useInfiniteQuery(pagesOf('listTenants', { query: { ...filters.values, limit: 50 } }))}
      filters={
        <FilterBar filters={filters}>
          <SearchFilter filters={filters} name="search" label="Name, slug or owner" />
          <SelectFilter filters={filters} name="suspended" label="State" all="All states" options={states} />
          <SelectFilter filters={filters} name="sort" label="Order" all="Newest" options={orders} />
        </FilterBar>
      }
      empty={{
        icon: Building2,
        title: 'No organizations',
        children: filters.isSet ? 'No organization matches the filters.' : 'New organizations appear here.',
      }}
      rowLink={({ id }) => paths.admin.tenant(id)}
      columns={[
        { header: 'Name', cell: ({ name }) => name },
        { header: 'State', isTight: true, cell: tenant => <TenantState tenant={tenant} /> },
        { header: 'Owner', isExtra: true, cell: ({ account }) => account?.email ?? 'None' },
        { header: 'Tier', cell: ({ tier }) => tierLabels[tier] },
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

/** Whether an organization, or its owner, is suspended. */
export function TenantState({ tenant }: { tenant: Pick<Tenant, 'account' | 'suspended_at'> }): ReactNode {
  if (tenant.suspended_at) return <Badge tone="bad">Suspended</Badge>
  if (tenant.account?.suspended_at) return <Badge tone="bad">Owner suspended</Badge>
  return <Badge tone="good">Active</Badge>
}
