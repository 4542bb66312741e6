import { useQuery } from '@tanstack/react-query'
import { Radar } from 'lucide-react'
import type { ReactNode } from 'react'
import { queryOf } from '../../api/queries.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { paths } from '../../paths.ts'
import { FilterBar, SearchFilter } from '../../ui/filter-bar.tsx'
import { formatCount } from '../../ui/format-amount.ts'
import { useFilters } from '../../ui/use-filters.ts'

/** Finds the workspaces that call a host. */
export function Hosts(): ReactNode {
  const filters = useFilters(['host'])
  const host = filters.first('host')
  const list = useQuery({ ...queryOf('findTargets', { query: { host } }), enabled: host !== '' })
  return (
    <ResourceList
      title="Hosts"
      description="The workspaces that call a host: among the newest 100,000 tasks, cron jobs and subscriptions."
      list={list}
      filters={
        <FilterBar filters={filters}>
          <SearchFilter filters={filters} name="host" label="Host, such as hooks.example.com" />
        </FilterBar>
      }
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
