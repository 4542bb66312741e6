import type { Workspace } from '@belfry/contract/workspace'
import { Boxes, Trash2, Users } from 'lucide-react'
import type { ReactNode } from 'react'
import { call } from '../../api/call.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { paths } from '../../paths.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useOrganization } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { DeleteByName } from './delete-by-name.tsx'
import styles from './settings.module.css'

export function Workspaces(): ReactNode {
  const { organization, workspaces } = useOrganization()
  const mayNotCreate = useRefusal('workspace.create')
  const mayChange = useRefusal('workspace.change') === null
  const mayDelete = useRefusal('workspace.delete') === null
  return (
    <ResourceList
      title="Workspaces"
      description="Each workspace has its own tasks, cron jobs, keys and log. A common setup is one workspace per environment."
      // Loaded with every page.
      list={{ data: workspaces, error: null, refetch: () => {} }}
      create={{ label: 'New workspace', right: 'workspace.create', form: <NameForm workspace={null} /> }}
      empty={{
        icon: Boxes,
        title: 'No workspaces',
        children: `You do not belong to any workspace of ${organization.name} yet. ${
          mayNotCreate ? 'Ask an owner or admin to add you to one.' : 'Create one, or ask an admin to add you.'
        }`,
        ...(mayNotCreate ? { actions: null } : {}),
      }}
      columns={[
        {
          header: 'Name',
          cell: ({ id, name }) => <Link to={paths.workspace(organization.slug, id).overview()}>{name}</Link>,
        },
        { header: 'ID', isExtra: true, cell: ({ id }) => <code className={styles.mono}>{id}</code> },
        { header: 'Created', isExtra: true, cell: one => <RelativeTime at={one.created_at} /> },
      ]}
      actions={({ id, name }) => (
        <>
          <Link
            to={paths.workspace(organization.slug, id).settings('members')}
            aria-label={`Members of ${name}`}
            className={styles.iconLink}
          >
            <Users size={16} />
          </Link>
          {mayDelete && (
            <DeleteByName
              label={`Delete ${name}`}
              icon={<Trash2 size={16} />}
              what="workspace"
              name={name}
              description="All its deliveries stop immediately: scheduled tasks, retries and cron jobs. Its API keys stop working and its log is deleted."
              run={() => call('deleteWorkspace', { ws: id })}
              done={`${name} deleted`}
            />
          )}
        </>
      )}
      nameOf={({ name }) => name}
      edit={mayChange ? { form: workspace => <NameForm workspace={workspace} /> } : undefined}
    />
  )
}

/** @param props.workspace - The workspace to change; null creates one. */
function NameForm({ workspace }: { workspace: Workspace | null }): ReactNode {
  const { organization } = useOrganization()
  const form = useForm({
    read: field => ({ name: field('name').trim(), switch_off_after_days: Number(field('switch_off_after_days')) }),
    check: ({ name }) => ({ name: name === '' && 'Enter a name.' }),
    submit: body =>
      workspace
        ? call('updateWorkspace', { ws: workspace.id, body })
        : call('createWorkspace', { org: organization.id, body: { name: body.name } }),
    done: ({ name }) => (workspace ? `${name} changed` : `${name} created`),
  })
  return (
    <Form form={form} action={workspace ? 'Save' : 'Create workspace'}>
      <TextField label="Name" name="name" defaultValue={workspace?.name} placeholder="Staging" autoComplete="off" />
      {workspace && (
        <TextField
          label="Switch off after days of failures"
          hint="Cron jobs and subscriptions whose every call fails. Owners get a mail after half of the time. 0: never."
          name="switch_off_after_days"
          type="number"
          min={0}
          max={90}
          defaultValue={workspace.switch_off_after_days}
        />
      )}
    </Form>
  )
}
