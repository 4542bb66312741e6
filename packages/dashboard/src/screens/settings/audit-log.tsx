import type { AuditStream } from '@belfry/contract/audit-entry'
import { type AuditAction, auditActions } from '@belfry/domain/audit-action'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Download, Radio, ScrollText } from 'lucide-react'
import { call, type Query, urlOf } from '../../api/call.ts'
import { allOf, pagesOf, queryOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { acceptedFilters } from '../../layout/accepted-filters.ts'
import { ConfirmButton, DialogButton } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useOrganization } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { TextField } from '../../ui/field.tsx'
import { FilterBar, SelectFilter, useFilters } from '../../ui/filter-bar.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Menu, MenuItem, MenuLabel } from '../../ui/menu.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { wordsOf } from '../../ui/words-of.ts'
import { toLogQuery } from '../log/log-filters.ts'
import { RangeFilter, useRangeQuery } from '../log/range-filter.tsx'
import { HiddenSecret } from './hidden-secret.tsx'
import styles from './settings.module.css'
import { TwoLines } from './two-lines.tsx'

export function AuditLog() {
  const { organization, workspaces } = useOrganization()
  const names = ['group', 'user_id', 'workspace_id', 'object_id', 'range', 'from', 'to'] as const
  const filters = useFilters(names, acceptedFilters)
  const query = useRangeQuery(filters.values, toAuditQuery)
  const exportUrl = (format: string) => urlOf('exportAuditLog', { org: organization.id, query: { ...query, format } })
  const { data: members = [] } = useQuery(allOf('listMembers', { org: organization.id }))
  return (
    <ResourceList
      title="Audit log"
      list={useInfiniteQuery(pagesOf('listAuditLog', { org: organization.id, query: { ...query, limit: 50 } }))}
      buttons={
        <>
          <DialogButton
            text="Stream"
            icon={<Radio size={15} />}
            right="audit_log.stream"
            title="Stream the audit log"
            description="New entries are sent to a webhook as JSON lines, and retried until it receives them."
          >
            <StreamSettings organizationId={organization.id} />
          </DialogButton>
          <Menu align="end" trigger={<Button icon={<Download size={15} />}>Export</Button>}>
            <MenuLabel>All entries that match the filters</MenuLabel>
            <MenuItem href={exportUrl('csv')}>CSV</MenuItem>
            <MenuItem href={exportUrl('jsonl')}>JSON Lines</MenuItem>
          </Menu>
        </>
      }
      description="Who changed which object, when, and from which address. No entry can be edited."
      filters={
        <FilterBar filters={filters} search={{ name: 'object_id', label: 'Object ID or name' }}>
          <SelectFilter filters={filters} name="group" label="Action" all="All actions" options={actionGroups} />
          <SelectFilter
            filters={filters}
            name="user_id"
            label="Member"
            all="All members"
            options={members.map(({ user }) => ({ value: user.id, label: user.name }))}
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
      columns={[
        { header: 'Time', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
        {
          header: 'Actor',
          cell: ({ actor, address, names }) => (
            <TwoLines
              first={actor.email ?? names[actor.api_key_id ?? ''] ?? actor.api_key_id ?? actor.user_id ?? 'Unknown'}
              second={`from ${address}`}
            />
          ),
        },
        {
          header: 'Action',
          cell: entry => (
            <div className={styles.twoLines}>
              <span className={styles.entry} title={entry.action}>
                {wordsOf(entry.action)}
              </span>
              {auditDetails(entry.details, entry.names).map(text => (
                <span key={text}>{text}</span>
              ))}
            </div>
          ),
        },
        {
          header: 'Object',
          isExtra: true,
          cell: ({ object_id, names }) => (
            <TwoLines
              first={names[object_id] && <bdi>{names[object_id]}</bdi>}
              second={<code className={styles.mono}>{object_id}</code>}
            />
          ),
        },
      ]}
    />
  )
}

function toAuditQuery({ group, ...values }: Partial<Record<string, string[]>>, now: Date, timeZone: string): Query {
  return { ...toLogQuery(values, now, timeZone), action: (group ?? []).flatMap(actionsOf) }
}

function StreamSettings({ organizationId }: { organizationId: string }) {
  const buttons = (
    <>
      <ConfirmButton
        text="Rotate secret"
        title="Rotate the signing secret?"
        description="Messages are signed with a new secret. For 24 hours they are also signed with the current one."
        action="Rotate"
        isDangerous={false}
        run={() => call('rotateAuditStreamSecret', { org: organizationId })}
        done="Signing secret rotated"
      />
      <ConfirmButton
        text="Stop stream"
        kind="danger"
        title="Stop the audit stream?"
        description="The webhook receives no more entries, and those that wait are dropped. The audit log keeps them."
        action="Stop stream"
        run={() => call('deleteAuditStream', { org: organizationId })}
        done="Audit stream stopped"
      />
    </>
  )
  return (
    <Loaded query={useQuery(queryOf('getAuditStream', { org: organizationId }))}>
      {stream => (
        <>
          {stream.target !== null && <StreamState stream={stream} />}
          <Form
            key={stream.updated_at}
            read={field => ({ url: field('url').trim() })}
            check={({ url }) => ({ url: url === '' && 'Enter the URL.' })}
            submit={body => call('putAuditStream', { org: organizationId, body })}
            done={({ target }) => `The audit log is streamed to ${target}`}
            staysOpen
            action={stream.target === null ? 'Start stream' : 'Change URL'}
            more={stream.target !== null && buttons}
          >
            <TextField
              label={stream.target === null ? 'URL' : 'New URL'}
              hint="An https URL that receives POST requests. It is stored encrypted and not shown again."
              name="url"
              type="url"
              isMono
              placeholder="https://logs.example.com/belfry"
            />
          </Form>
        </>
      )}
    </Loaded>
  )
}

const maxCounted = 10_000

function StreamState({ stream: { target, signing_secrets, waiting, last_error } }: { stream: AuditStream }) {
  const [current, previous] = signing_secrets
  const count = waiting > maxCounted ? 'More than 10,000 entries' : `${waiting} ${waiting === 1 ? 'entry' : 'entries'}`
  return (
    <DefinitionList
      rows={{
        Receiver: target,
        Waiting: count,
        'Latest error': last_error,
        'Signing secret': current && <HiddenSecret text={current.secret} />,
        'Previous secret': previous && <HiddenSecret text={previous.secret} expiresAt={previous.expires_at} />,
      }}
    />
  )
}

const singular = new Set(['organization', 'audit_stream'])

export const actionGroups = [...new Set(auditActions.map(action => action.split('.')[0] ?? ''))].map(value => {
  return { value, label: singular.has(value) ? wordsOf(value) : `${wordsOf(value)}s` }
})

/** Returns the actions of a group, for the query of the API. Empty for an unknown group. */
export function actionsOf(group: string): AuditAction[] {
  return auditActions.filter(action => action.startsWith(`${group}.`))
}

type Details = Readonly<Record<string, unknown>>
type Names = Readonly<Record<string, string>>

/**
 * Describes the details of an entry: a change as its old and new value, others as a name with a value.
 * @param names - The names of ids.
 */
export function auditDetails(details: Details, names: Names): string[] {
  const change = changeOf(details, names)
  const others = Object.entries(details).filter(([name, value]) => {
    return value !== null && !(change !== null && (name === 'from' || name === 'to'))
  })
  const texts = others.map(([name, value]) => `${labelOf(name)}: ${changeOf(value, names) ?? textOf(value, names)}`)
  return change === null ? texts : [change, ...texts]
}

function changeOf(value: unknown, names: Names): string | null {
  if (typeof value !== 'object' || value === null || !('from' in value && 'to' in value)) return null
  if (value.from === null && value.to === null) return null
  return `${textOf(value.from, names)} → ${textOf(value.to, names)}`
}

function labelOf(name: string): string {
  return name === 'fields' ? 'changed' : name.replaceAll('_', ' ').replace('api key', 'API key')
}

function textOf(value: unknown, names: Names): string {
  if (typeof value === 'string') return (Object.hasOwn(names, value) && names[value]) || value
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none'
  if (Array.isArray(value)) return value.map(one => textOf(one, names)).join(', ')
  return JSON.stringify(value)
}
