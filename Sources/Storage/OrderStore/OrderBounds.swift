/// The bounds that choose the way to read a page of orders. All ways find the same orders; tests choose among them.
package struct OrderBounds: Sendable, Hashable {
    /// The number of orders that are looked at one by one at first: most filters fit a page of them.
    package var glance = 250
    /// The most classes that are looked up at once.
    package var fewClasses = 400
    /// The most classes that are looked up at once for orders that changed.
    package var someClasses = 1500
    /// The number of orders that are walked in the index before classes are looked up: some milliseconds.
    package var window = 50_000
    /// The number of orders that are walked where the row of each is read.
    package var readWindow = 5000
    /// The most changed transactions that lead to their orders.
    package var fewChanges = 8000
    /// The most changed transactions that lead to their orders where walking takes longer.
    package var moreChanges = 40_000
    /// The number of orders that are walked in the time of one look-up.
    package var walkedPerLookUp = 6
    /// The number of orders that a page of an instant of the past looks through: the transactions and refunds of each are read, in some 50 ms.
    package var then = 2000

    /// Bounds that keep each page within some milliseconds.
    package init() {}
}
