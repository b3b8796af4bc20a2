import type { ReactNode } from "react";

export default function Page(): ReactNode {
  return <p>POST /api/run with {'{ "question": "..." }'}</p>;
}
