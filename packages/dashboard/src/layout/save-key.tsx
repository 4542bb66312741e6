import { Download } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { saveFile } from '../ui/save-file.ts'

/** Saves a new API key as a file for the environment of a program. */
export function SaveKey({ apiKey, onSaved }: { apiKey: string; onSaved?: () => void }) {
  const text = `BELFRY_URL=${window.location.origin}\nBELFRY_API_KEY=${apiKey}\n`
  return (
    <Button
      icon={<Download size={15} />}
      onClick={() => {
        saveFile('belfry.env', text)
        onSaved?.()
      }}
    >
      Download .env
    </Button>
  )
}
