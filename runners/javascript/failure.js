/** @returns {{message: string, sqlite_code: number | null, sql: string | null}} what a result says of an error */
export function failure(error, driver) {
  return {
    message: error instanceof Error ? error.message : String(error),
    sqlite_code: driver?.code(error) ?? null,
    sql: error?.sql ?? null,
  };
}
