/// The last so many elements; older ones are forgotten.
struct RecentRing<Element: Sendable>: Sendable {
    private let capacity: Int
    private var elements: [Element] = []
    private var oldest = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Adds an element, discard the oldest where there is no room.
    mutating func append(_ element: Element) {
        if elements.count < capacity {
            elements.append(element)
        } else {
            elements[oldest] = element
            oldest = (oldest + 1) % capacity
        }
    }

    /// One of the elements, by chance; nil if there are none.
    func element(_ random: inout SeededGenerator) -> Element? {
        elements.randomElement(using: &random)
    }
}
