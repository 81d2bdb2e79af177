/// Many lives told at once, in the order of the outer signed dates. Endless.
struct InterleavedLives: Sendable {
    private let seed: UInt64
    private let subscribers: Int
    private let app: SimulatedApp
    private let pace: Int64
    private let origin: Milliseconds

    /// The lives that have begun, as a binary heap by the date of their next notification.
    private var heap: [SimulatedLife] = []
    private var begun = 0

    init(seed: UInt64, subscribers: Int, app: SimulatedApp, pace: Int64, origin: Milliseconds) {
        self.seed = seed
        self.subscribers = max(1, subscribers)
        self.app = app
        self.pace = pace
        self.origin = origin
        heap.reserveCapacity(self.subscribers)
    }

    /// The next notification of all lives together.
    mutating func next() -> UnsignedNotification {
        while true {
            // A life that has not begun by then cannot be the next to speak.
            while begun < subscribers, heap.isEmpty || heap[0].nextSignedDate >= birth(begun) { begin() }
            if let notification = heap[0].takeNext() {
                siftDown()
                return notification
            }
            siftDown()
        }
    }

    /// Customers arrive evenly over sixty days.
    private func birth(_ number: Int) -> Milliseconds {
        origin + Milliseconds.days(60) / pace * Int64(number) / Int64(subscribers)
    }

    private mutating func begin() {
        var life = SimulatedLife(app: app, number: begun, seed: seed, pace: pace, birth: birth(begun))
        begun += 1
        life.advance()
        heap.append(life)
        var child = heap.count - 1
        while child > 0, heap[child].nextSignedDate < heap[(child - 1) / 2].nextSignedDate {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].nextSignedDate < heap[least].nextSignedDate {
                least = child
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
