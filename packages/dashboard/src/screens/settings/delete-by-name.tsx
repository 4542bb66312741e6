import { type ReactNode, useState } from 'react'
import { Stack } from '../../ui/card.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { Problem } from '../../ui/problem.tsx'

type DeleteByNameProps = {
  isOpen: boolean
  onClose(): void
  what: 'workspace' | 'organization'
  name: string
  description: string
  isPending: boolean
  error: unknown
  onConfirm(): void
}

/** Asks the user to type the name before a workspace or organization is deleted. */
export function DeleteByName(props: DeleteByNameProps): ReactNode {
  const { what, name, isPending, error, onConfirm, ...dialog } = props
  const [typed, setTyped] = useState('')
  const [isWrong, setIsWrong] = useState(false)
  const confirm = () => {
    if (typed.trim() === name) onConfirm()
    else setIsWrong(true)
  }
  return (
    <ConfirmDialog
      {...dialog}
      title={`Delete ${name}?`}
      action={`Delete ${what}`}
      isDangerous
      isPending={isPending}
      onConfirm={confirm}
    >
      <form
        onSubmit={event => {
          event.preventDefault()
          confirm()
        }}
      >
        <Stack>
          <Field
            label={`Type the name of the ${what} to confirm`}
            hint={<strong>{name}</strong>}
            error={isWrong && typed.trim() !== name ? 'The name does not match.' : undefined}
          >
            <TextInput value={typed} autoComplete="off" onChange={event => setTyped(event.target.value)} />
          </Field>
          {error != null && <Problem error={error} />}
        </Stack>
      </form>
    </ConfirmDialog>
  )
}
