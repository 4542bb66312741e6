import { useQuery } from '@tanstack/react-query'
import { Radar } from 'lucide-react'
import type { ReactNode } from 'react'
import { targetsQuery } from '../../api/operator.ts'
import { paths } from '../../paths.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { FilterBar, SearchFilter } from '../../ui/filter-bar.tsx'
import { formatCount } from '../../ui/format-amount.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { useFilters } from '../../ui/use-filters.ts'

/** Finds the workspaces that call a host. */
export function Targets(): ReactNode {
  const filters = useFilters(['host'])
  const host = filters.first('host')
  const { data, error, refetch } = useQuery(targetsQuery(host))
  return (
    <>
      <PageHeader
        title="Target hosts"
        description="The workspaces that call a host: among the newest 100,000 tasks, cron jobs and subscriptions."
      />
      <FilterBar filters={filters}>
        <SearchFilter filters={filters} name="host" label="Host, such as hooks.example.com" />
      </FilterBar>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {host === '' || data?.data.length === 0 ? (
        <EmptyState icon={<Radar size={22} aria-hidden="true" />} title={host === '' ? 'Enter a host' : 'No calls'}>
          {host === '' ? 'Enter the host of a target, with its port if it has one.' : `No workspace calls ${host}.`}
        </EmptyState>
      ) : (
        <Table
          label="Workspaces"
          rows={data?.data}
          rowKey={({ workspace_id }) => workspace_id}
          rowLink={({ organization_id }) => paths.admin.tenant(organization_id)}
          columns={[
            { id: 'organization', header: 'Organization', cell: ({ organization_name }) => organization_name },
            { id: 'workspace', header: 'Workspace', cell: ({ workspace_name }) => workspace_name },
            { id: 'tasks', header: 'Tasks', align: 'end', cell: ({ tasks }) => formatCount(tasks) },
            { id: 'cron', header: 'Cron jobs', align: 'end', cell: ({ cron_jobs }) => formatCount(cron_jobs) },
            {
              id: 'subscriptions',
              header: 'Subscriptions',
              align: 'end',
              cell: ({ subscriptions }) => formatCount(subscriptions),
            },
          ]}
        />
      )}
    </>
  )
}
