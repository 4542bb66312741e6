import type { Action } from '@belfry/domain/permissions'
import { Pencil, Plus, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useSearchParams } from 'react-router'
import type { Change } from '../forms/use-change.ts'
import { Refusal } from '../session/allowed.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Dialog, type DialogProps } from '../ui/dialog.tsx'
import { EmptyState, type EmptyStateProps } from '../ui/empty-state.tsx'
import { ListTable, type ListTableProps } from '../ui/list-table.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ConfirmButton, DialogButton } from './change-buttons.tsx'

type ResourceListProps<Row> = Omit<ListTableProps<Row>, 'label' | 'empty'> & {
  title: string
  /** The accessible name of the table. Default: the title. */
  label?: string
  description: ReactNode
  /** The button that creates a row, and the dialog or the page that it opens. */
  create?: Creation
  /** The form in the dialogs that create a row, for null, and that edit one. Null for a row that cannot be edited here. */
  form?(row: Row | null): ReactNode
  /** The name of a row, for the labels of its buttons. */
  nameOf?(row: Row): string
  edit?: EditDialog<Row> | undefined
  remove?: Removal<Row>
  buttons?: ReactNode
  /** Shown above the table. */
  filters?: ReactNode
  /** Clears the filters, if any is set: an empty table then means that no row matches. */
  onClear?: (() => void) | false
  /** Shown in place of an empty table, with the button that creates a row. */
  empty: EmptyStateProps
  children?: ReactNode
}

type Creation = Pick<DialogProps, 'description' | 'isWide'> & {
  label: string
  /** Default: a plus sign. */
  icon?: ReactNode
  /** The action that the user must be allowed to perform. */
  right?: Action
  /** The title of the dialog. Default: the label. */
  title?: string
  /** The page with the form. Default: a dialog. */
  to?: string
}

type EditDialog<Row> = Pick<DialogProps, 'description' | 'isWide'> & {
  right?: Action
  /** The title of the dialog. Default: Edit and the name. */
  title?(row: Row): string
}

type Removal<Row> = Pick<Change<unknown, Row>, 'run'> & {
  /** What a row is, such as "secret". */
  what: string
  right: Action
  /** What the deletion causes. */
  description: string | ((row: Row) => string)
}

/** A page with a table. `?new=1` opens the dialog that creates a row. */
export function ResourceList<Row>(props: ResourceListProps<Row>) {
  const { title, description, create, form, nameOf, edit, remove, buttons, filters, onClear, empty, ...table } = props
  const [params, setParams] = useSearchParams()
  const [isCreating, setIsCreating] = useState(false)
  const close = () => {
    setIsCreating(false)
    if (!params.has('new')) return
    params.delete('new')
    setParams(params, { replace: true })
  }
  const button = create && <CreateButton create={create} onClick={() => setIsCreating(true)} />
  return (
    <>
      <PageHeader
        title={title}
        description={description}
        actions={
          <>
            {buttons}
            {button}
          </>
        }
      />
      {filters}
      <ListTable
        label={title}
        {...table}
        actions={table.actions || edit || remove ? row => <RowActions row={row} list={props} /> : undefined}
        empty={
          onClear ? (
            <EmptyState
              title={`No matching ${title.toLowerCase()}`}
              actions={<Button onClick={onClear}>Clear filters</Button>}
            />
          ) : (
            <EmptyState actions={button} {...empty} />
          )
        }
      />
      {props.children}
      {create && create.to === undefined && (
        <Dialog
          isOpen={isCreating || params.has('new')}
          onClose={close}
          title={create.title ?? create.label}
          description={create.description}
          isWide={create.isWide}
        >
          {form?.(null)}
        </Dialog>
      )}
    </>
  )
}

function CreateButton({ create, onClick }: { create: Creation; onClick(): void }) {
  const look = { kind: 'primary', icon: create.icon ?? <Plus size={16} />, 'aria-keyshortcuts': 'c' } as const
  return (
    <Refusal of={create.right}>
      {refusal =>
        create.to !== undefined ? (
          <ButtonLink {...look} refusal={refusal} to={create.to}>
            {create.label}
          </ButtonLink>
        ) : (
          <Button {...look} refusal={refusal} onClick={onClick}>
            {create.label}
          </Button>
        )
      }
    </Refusal>
  )
}

function RowActions<Row>({ row, list }: { row: Row; list: ResourceListProps<Row> }) {
  const { actions, edit, remove } = list
  const name = list.nameOf?.(row) ?? ''
  const fields = edit && list.form?.(row)
  return (
    <>
      {actions?.(row)}
      {edit && fields !== null && (
        <DialogButton {...edit} label={`Edit ${name}`} icon={<Pencil size={16} />} title={edit.title?.(row)}>
          {fields}
        </DialogButton>
      )}
      {remove && (
        <ConfirmButton
          label={`Delete ${name}`}
          icon={<Trash2 size={16} />}
          description={typeof remove.description === 'string' ? remove.description : remove.description(row)}
          action={`Delete ${remove.what}`}
          right={remove.right}
          run={() => remove.run(row)}
          done={`${name} deleted`}
        />
      )}
    </>
  )
}
