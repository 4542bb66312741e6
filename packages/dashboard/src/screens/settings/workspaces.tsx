import type { Workspace } from '@belfry/contract/workspace'
import { Boxes, Pencil, Plus, Trash2, Users } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useSearchParams } from 'react-router'
import { createWorkspace, deleteWorkspace, updateWorkspace } from '../../api/organizations.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { paths } from '../../paths.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useOrganization } from '../../session/scope.ts'
import { Button, IconButton, Link } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { DeleteByName } from './delete-by-name.tsx'
import styles from './settings.module.css'

export function Workspaces(): ReactNode {
  const { organization, workspaces } = useOrganization()
  const [params, setParams] = useSearchParams()

  const [naming, setNaming] = useState<Workspace | 'new' | null>(params.has('new') ? 'new' : null)
  const [deleting, setDeleting] = useState<Workspace | null>(null)
  const close = () => {
    setNaming(null)
    if (params.has('new')) setParams({}, { replace: true })
  }
  const mayNotCreate = useRefusal('workspace.create')
  const create = (
    <Button kind="primary" icon={<Plus size={16} />} refusal={mayNotCreate} onClick={() => setNaming('new')}>
      New workspace
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Workspaces"
        description="Each workspace has its own tasks, cron jobs, keys and log. A common setup is one workspace per environment."
        actions={workspaces.length > 0 && create}
      />
      {workspaces.length === 0 ? (
        <EmptyState icon={Boxes} title="No workspaces" actions={mayNotCreate ? undefined : create}>
          You do not belong to any workspace of {organization.name} yet.{' '}
          {mayNotCreate ? 'Ask an owner or admin to add you to one.' : 'Create one, or ask an admin to add you.'}
        </EmptyState>
      ) : (
        <WorkspaceTable workspaces={workspaces} onEdit={setNaming} onDelete={setDeleting} />
      )}
      <Dialog
        isOpen={naming !== null}
        onClose={close}
        title={naming === 'new' || naming === null ? 'New workspace' : `Edit ${naming.name}`}
      >
        <NameForm workspace={naming === 'new' ? null : naming} onDone={close} />
      </Dialog>
      <DeleteWorkspace workspace={deleting} onClose={() => setDeleting(null)} />
    </>
  )
}

type WorkspaceTableProps = {
  workspaces: Workspace[]
  onEdit(workspace: Workspace): void
  onDelete(workspace: Workspace): void
}

function WorkspaceTable({ workspaces, onEdit, onDelete }: WorkspaceTableProps): ReactNode {
  const { organization } = useOrganization()
  const mayChange = useRefusal('workspace.change') === null
  const mayDelete = useRefusal('workspace.delete') === null
  return (
    <Table
      label="Workspaces"
      rows={workspaces}
      rowKey={({ id }) => id}
      columns={[
        {
          id: 'name',
          header: 'Name',
          cell: ({ id, name }) => <Link to={paths.workspace(organization.slug, id).overview()}>{name}</Link>,
        },
        { id: 'id', header: 'ID', isExtra: true, cell: ({ id }) => <code className={styles.mono}>{id}</code> },
        { id: 'created', header: 'Created', isExtra: true, cell: one => <RelativeTime at={one.created_at} /> },
      ]}
      actions={workspace => (
        <>
          <Link
            to={paths.workspace(organization.slug, workspace.id).settings('members')}
            aria-label={`Members of ${workspace.name}`}
            className={styles.iconLink}
          >
            <Users size={16} aria-hidden="true" />
          </Link>
          {mayChange && (
            <IconButton
              label={`Edit ${workspace.name}`}
              icon={<Pencil size={16} />}
              onClick={() => onEdit(workspace)}
            />
          )}
          {mayDelete && (
            <IconButton
              label={`Delete ${workspace.name}`}
              icon={<Trash2 size={16} />}
              onClick={() => onDelete(workspace)}
            />
          )}
        </>
      )}
    />
  )
}

type NameFormProps = {
  /** The workspace to change; null creates one. */
  workspace: Workspace | null
  onDone(): void
}

function NameForm({ workspace, onDone }: NameFormProps): ReactNode {
  const { organization } = useOrganization()
  const form = useForm({
    read: field => ({ name: field('name').trim(), switch_off_after_days: Number(field('switch_off_after_days')) }),
    check: ({ name }) => ({ ...(name === '' ? { name: 'Enter a name.' } : {}) }),
    submit: body =>
      workspace ? updateWorkspace(workspace.id, body) : createWorkspace(organization.id, { name: body.name }),
    onDone,
    done: ({ name }) => (workspace ? `${name} changed` : `${name} created`),
    affects: [['workspaces', organization.id]],
  })
  return (
    <Form form={form} action={workspace ? 'Save' : 'Create workspace'} more={<Button onClick={onDone}>Cancel</Button>}>
      <Field label="Name" error={form.errors.name}>
        <TextInput name="name" defaultValue={workspace?.name} placeholder="Staging" autoComplete="off" />
      </Field>
      {workspace && (
        <Field
          label="Switch off after days of failures"
          hint="Cron jobs and subscriptions whose every call fails. Owners get a mail after half of the time. 0: never."
          error={form.errors.switch_off_after_days}
        >
          <TextInput
            name="switch_off_after_days"
            type="number"
            min={0}
            max={90}
            defaultValue={workspace.switch_off_after_days}
          />
        </Field>
      )}
    </Form>
  )
}

function DeleteWorkspace({ workspace, onClose }: { workspace: Workspace | null; onClose(): void }): ReactNode {
  const { organization } = useOrganization()
  const { id = '', name = '' } = workspace ?? {}
  return (
    <DeleteByName
      key={id}
      isOpen={workspace !== null}
      onClose={onClose}
      what="workspace"
      name={name}
      description="All its deliveries stop immediately: scheduled tasks, retries and cron jobs. Its API keys stop working and its log is deleted."
      run={() => deleteWorkspace(id)}
      onDone={onClose}
      done={() => `${name} deleted`}
      affects={[['workspaces', organization.id]]}
    />
  )
}
