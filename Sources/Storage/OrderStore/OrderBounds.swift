/// Up to what a page of orders is read in one way and not in another. All find the same; tests choose among them.
package struct OrderBounds: Sendable, Hashable {
    /// How many orders are looked at one by one before anything else: most filters fit a page of them.
    package var glance = 250
    /// Up to so many classes are looked up at once.
    package var fewClasses = 400
    /// Likewise, with what changed.
    package var someClasses = 1500
    /// How many orders are walked in the index before the classes are looked up: some milliseconds.
    package var window = 50_000
    /// How many are walked where the row of each is read.
    package var readWindow = 5000
    /// Up to so many changed transactions lead to their orders.
    package var fewChanges = 8000
    /// Likewise, where walking takes longer.
    package var moreChanges = 40_000
    /// How many orders are walked in the time in which one is looked up.
    package var walkedPerLookUp = 6

    /// Those that keep each page within some milliseconds.
    package init() {}
}
