using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>
/// Operations with a digest, one after the other on one connection whatever workers there are, then the writer's on its own.
/// </summary>
internal sealed class Verification : IDisposable
{
    private readonly Job _job;
    private readonly Session? _writer;

    /// <param name="existing">The connection of a session that goes on after this; null to open one.</param>
    public Verification(Job job, Digest digest, SqliteConnection? existing = null)
    {
        _job = job;
        var parts = Parts.Of(job);
        First = new Session(job, parts[0], digest, existing);
        try
        {
            _writer = parts[^1].IsWriter ? new Session(job, parts[^1], null) : null;
        }
        catch
        {
            First.Dispose();
            throw;
        }
    }

    /// <summary>The session for read-back and inspection.</summary>
    public Session First { get; }

    /// <returns>What each of the operations <paramref name="begin"/> … <paramref name="end"/> − 1 returned.</returns>
    /// <exception cref="StatementException">A statement failed.</exception>
    public List<Tally> Perform(long begin, long end)
    {
        var answers = new List<Tally>();
        var transaction = First.BeginRead();
        for (var operation = begin; operation < end; operation++)
        {
            if (_job.ResetBefore(operation) is { Length: > 0 } statements)
            {
                First.EndRead(transaction);
                First.Reset(statements);
                transaction = First.BeginRead();
            }

            answers.Add(First.Run(operation, operation + 1).Tally);
        }

        First.EndRead(transaction);
        _writer?.Run(0, _job.Writer!.Operations);
        return answers;
    }

    public void Dispose()
    {
        _writer?.Dispose();
        First.Dispose();
    }
}
