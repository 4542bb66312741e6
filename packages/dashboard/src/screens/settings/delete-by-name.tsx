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

/** Asks for the name of what is to be deleted, so that nothing large is deleted by a slip. */
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
            label={`Type in the name of the ${what}`}
            hint={<strong>{name}</strong>}
            error={isWrong && typed.trim() !== name ? `That is not the name of the ${what}.` : undefined}
          >
            <TextInput value={typed} autoComplete="off" onChange={event => setTyped(event.target.value)} />
          </Field>
          {error != null && <Problem error={error} />}
        </Stack>
      </form>
    </ConfirmDialog>
  )
}
