using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>
/// One iteration with a digest: all workers' parts one after the other on one connection, then the writer's on its own.
/// </summary>
internal sealed class Verification : IDisposable
{
    private readonly Part[] _parts;
    private readonly Session? _writer;

    /// <param name="existing">The connection of a session that goes on after this; null to open one.</param>
    public Verification(Job job, Digest digest, SqliteConnection? existing = null)
    {
        _parts = Parts.Of(job);
        First = new Session(job, _parts[0], digest, existing);
        try
        {
            _writer = _parts[^1].IsWriter ? new Session(job, _parts[^1], null) : null;
        }
        catch
        {
            First.Dispose();
            throw;
        }
    }

    /// <summary>The session for read-back and inspection.</summary>
    public Session First { get; }

    /// <returns>What the workers' operations returned.</returns>
    /// <exception cref="StatementException">A statement failed.</exception>
    public Tally Perform()
    {
        Tally sum = default;
        First.Reset();
        var transaction = First.BeginRead();
        foreach (var part in _parts.Where(part => !part.IsWriter))
        {
            sum.Add(First.Run(part.Begin, part.End).Tally);
        }

        First.EndRead(transaction);
        _writer?.Run(0, _parts[^1].End);
        return sum;
    }

    public void Dispose()
    {
        _writer?.Dispose();
        First.Dispose();
    }
}
