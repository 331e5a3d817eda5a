using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>Steps, with what is around them in an operation: nothing, a transaction, a connection.</summary>
internal abstract class Work(Step[] steps)
{
    /// <exception cref="StatementException">A statement failed.</exception>
    /// <exception cref="SqliteException">Something around the statements failed.</exception>
    public abstract void Perform(long operation, ref Tally tally);

    /// <summary>Rolls back what a failed operation has left open.</summary>
    public virtual void Recover()
    {
    }

    /// <summary>Which of the steps an operation performs; null for all.</summary>
    public Order? Order { get; init; }

    protected Step[] Steps => steps;

    /// <summary>Ends a transaction that a step began and no step has ended.</summary>
    protected static void RollBack(SqliteConnection connection)
    {
        if (SQLitePCL.raw.sqlite3_get_autocommit(connection.Handle) == 0)
        {
            Sql.Execute(connection, "ROLLBACK");
        }
    }

    protected void RunSteps(long operation, ref Tally tally)
    {
        if (Order is not null)
        {
            RunGroup(Order.At(operation), ref tally);
            return;
        }

        foreach (var step in steps)
        {
            Execute(step, operation * step.Site.Repeat, step.Site.Repeat, ref tally);
        }

        tally.EndOperation();
    }

    private void RunGroup(Place place, ref Tally tally)
    {
        foreach (var step in steps.AsSpan(place.First..place.End))
        {
            Execute(step, place.Turn * step.Site.Repeat, step.Site.Repeat, ref tally);
        }

        tally.EndOperation();
    }

    private static void Execute(Step step, long first, long count, ref Tally tally)
    {
        try
        {
            step.Execute(first, count, ref tally);
        }
        catch (Exception e) when (e is SqliteException or InvalidOperationException or InvalidCastException)
        {
            throw new StatementException(step.Site.Sql, e);
        }
    }
}

/// <summary>The steps alone.</summary>
/// <param name="endsTransactions">Whether an operation ends what it begins; false within the iteration's transaction.</param>
internal sealed class BareWork(Step[] steps, SqliteConnection connection, bool endsTransactions) : Work(steps)
{
    public override void Perform(long operation, ref Tally tally) => RunSteps(operation, ref tally);

    public override void Recover()
    {
        if (endsTransactions)
        {
            RollBack(connection);
        }
    }
}

/// <summary>A transaction around each operation, by the driver's API.</summary>
internal sealed class TransactionWork(Step[] steps, SqliteConnection connection, bool deferred) : Work(steps)
{
    public override void Perform(long operation, ref Tally tally)
    {
        using var transaction = connection.BeginTransaction(deferred);
        Step.Enlist(Steps, transaction);
        RunSteps(operation, ref tally);
        transaction.Commit();
        Step.Enlist(Steps, null);
    }
}

/// <summary>A connection from the driver's pool for each operation, and the transaction within.</summary>
internal sealed class LeasedWork(Step[] steps, Lease lease, TransactionKind transaction) : Work(steps)
{
    public override void Perform(long operation, ref Tally tally)
    {
        try
        {
            lease.Take();
            if (transaction == TransactionKind.None)
            {
                RunSteps(operation, ref tally);
                return;
            }

            using var around = lease.Connection.BeginTransaction(transaction == TransactionKind.Deferred);
            RunSteps(operation, ref tally);
            around.Commit();
        }
        catch (StatementException) when (transaction == TransactionKind.None)
        {
            // The pool would hand it on as it is.
            RollBack(lease.Connection);
            throw;
        }
        finally
        {
            lease.Return();
        }
    }
}
