using Xunit;

namespace Sqlitmus.Tests;

public sealed class PartsTests
{
    [Fact]
    public void Ten_operations_over_four_workers_are_two_three_two_three()
    {
        var parts = Enumerable.Range(0, 4).Select(worker => Parts.Cut(10, worker, 4));
        Assert.Equal([(0L, 2L), (2L, 5L), (5L, 7L), (7L, 10L)], parts);
    }

    [Fact]
    public void Fewer_operations_than_workers_leave_some_with_none()
    {
        var parts = Enumerable.Range(0, 3).Select(worker => Parts.Cut(1, worker, 3));
        Assert.Equal([(0L, 0L), (0L, 0L), (0L, 1L)], parts);
    }

    [Fact]
    public void A_share_has_its_place_among_the_workers_of_all_processes()
    {
        var parts = Of("""
            "measure": {"operations_per_iteration": 10, "workers": 2, "share": {"first": 1, "of": 4}, "rate": 50}
            """);
        Assert.Equal(
            [(2L, 5L, 10L, 0.25, 50.0), (5L, 7L, 10L, 0.5, 50.0)],
            parts.Select(part => (part.Begin, part.End, part.Stride, part.Offset, part.Rate!.Value)));
    }

    [Fact]
    public void The_writer_comes_last_with_operations_of_its_own()
    {
        var parts = Of("""
            "writer": {"steps": [{"operation": "run", "sql": "DELETE FROM t"}], "transaction": "immediate", "operations": 3},
            "measure": {"operations_per_iteration": 10, "workers": 2, "rate": 50}
            """);
        Assert.Equal([false, false, true], parts.Select(part => part.IsWriter));
        Assert.Equal((0L, 3L, 3L, TransactionKind.Immediate), (parts[2].Begin, parts[2].End, parts[2].Stride, parts[2].Transaction));
        Assert.Null(parts[2].Rate);
    }

    private static Part[] Of(string members) => Parts.Of(JobRun.Read(members, "measure", ":memory:"));
}
