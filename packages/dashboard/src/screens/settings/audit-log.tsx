import type { AuditEntry } from '@belfry/contract/audit-entry'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Download, ScrollText } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { membersQuery } from '../../api/members.ts'
import { auditExportUrl, auditLogQuery } from '../../api/organizations.ts'
import type { ListQuery } from '../../api/page.ts'
import { acceptedFilters } from '../../layout/accepted-filters.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useOrganization } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { FilterBar, SearchFilter, SelectFilter } from '../../ui/filter-bar.tsx'
import { Menu, MenuItem, MenuLabel } from '../../ui/menu.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useDisplayZone } from '../../ui/time-style.ts'
import { useFilters } from '../../ui/use-filters.ts'
import { toLogQuery } from '../log/log-filters.ts'
import { RangeFilter } from '../log/range-filter.tsx'
import { auditDetails } from './audit-details.ts'
import { actionGroups, actionsOf } from './audit-groups.ts'
import { AuditStreamButton } from './audit-stream.tsx'
import styles from './settings.module.css'

export function AuditLog(): ReactNode {
  const { organization, workspaces } = useOrganization()
  const names = ['group', 'user_id', 'workspace_id', 'object_id', 'range', 'from', 'to'] as const
  const filters = useFilters(names, acceptedFilters)
  const key = JSON.stringify(filters.values)
  const zone = useDisplayZone()
  const query = useMemo(() => toAuditQuery(JSON.parse(key), zone), [key, zone])
  const list = useInfiniteQuery(auditLogQuery(organization.id, { ...query, limit: 50 }))
  const members = useInfiniteQuery(membersQuery(organization.id))
  return (
    <ResourceList
      title="Audit log"
      list={list}
      buttons={
        <>
          <AuditStreamButton />
          <Menu align="end" trigger={<Button icon={<Download size={15} aria-hidden="true" />}>Export</Button>}>
            <MenuLabel>All entries that match the filters</MenuLabel>
            <MenuItem href={auditExportUrl(organization.id, query, 'csv')}>CSV</MenuItem>
            <MenuItem href={auditExportUrl(organization.id, query, 'jsonl')}>JSON Lines</MenuItem>
          </Menu>
        </>
      }
      description="Who changed which object, when, and from which address. No entry can be edited."
      filters={
        <FilterBar
          filters={filters}
          search={<SearchFilter filters={filters} name="object_id" label="Object ID or name" />}
        >
          <SelectFilter filters={filters} name="group" label="Action" all="All actions" options={actionGroups} />
          <SelectFilter
            filters={filters}
            name="user_id"
            label="Member"
            all="All members"
            options={(members.data?.items ?? []).map(({ user }) => ({ value: user.id, label: user.name }))}
          />
          <SelectFilter
            filters={filters}
            name="workspace_id"
            label="Workspace"
            all="All workspaces"
            options={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
          />
          <RangeFilter filters={filters} />
        </FilterBar>
      }
      empty={{
        icon: ScrollText,
        title: 'No entries',
        children: filters.isSet ? 'No entry matches the filters.' : 'Changes to the organization appear here.',
      }}
      rows={list.data?.items}
      rowKey={({ id }) => id}
      columns={[
        { id: 'at', header: 'Time', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
        {
          id: 'actor',
          header: 'Actor',
          cell: ({ actor, address, names }) => (
            <div className={styles.twoLines}>
              {actor.email ?? names[actor.api_key_id ?? ''] ?? actor.api_key_id ?? actor.user_id ?? 'Unknown'}
              <span>from {address}</span>
            </div>
          ),
        },
        {
          id: 'action',
          header: 'Action',
          cell: entry => (
            <div className={styles.twoLines}>
              <span className={styles.entry} title={entry.action}>
                {sentenceOf(entry.action)}
              </span>
              {auditDetails(entry.details, entry.names).map(text => (
                <span key={text}>{text}</span>
              ))}
            </div>
          ),
        },
        {
          id: 'object',
          header: 'Object',
          isExtra: true,
          cell: ({ object_id, names }) => (
            <div className={styles.twoLines}>
              {names[object_id] && <bdi>{names[object_id]}</bdi>}
              <span>
                <code className={styles.mono}>{object_id}</code>
              </span>
            </div>
          ),
        },
      ]}
    />
  )
}

function toAuditQuery({ group, ...values }: Partial<Record<string, string[]>>, timeZone: string): ListQuery {
  return { ...toLogQuery(values, new Date(), timeZone), action: (group ?? []).flatMap(actionsOf) }
}

// "cron_job.paused" is "Cron job paused", "api_key.created" is "API key created".
function sentenceOf(action: AuditEntry['action']): string {
  const words = action.replaceAll(/[._]/g, ' ').replace('api key', 'API key')
  return words[0]?.toUpperCase() + words.slice(1)
}
