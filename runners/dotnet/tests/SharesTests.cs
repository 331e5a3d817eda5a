using Xunit;

namespace Sqlitmus.Tests;

public sealed class SharesTests
{
    [Fact]
    public void Ten_operations_over_four_workers_are_two_three_two_three()
    {
        var shares = Enumerable.Range(0, 4).Select(worker => Shares.Of(10, worker, 4));
        Assert.Equal([(0L, 2L), (2L, 5L), (5L, 7L), (7L, 10L)], shares);
    }

    [Fact]
    public void Fewer_operations_than_workers_leave_some_with_none()
    {
        var shares = Enumerable.Range(0, 3).Select(worker => Shares.Of(1, worker, 3));
        Assert.Equal([(0L, 0L), (0L, 0L), (0L, 1L)], shares);
    }
}
