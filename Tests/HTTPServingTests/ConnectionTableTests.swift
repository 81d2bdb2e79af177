import Base
import NIOCore
import Testing

@testable import HTTPKit

@Suite("The table of connections")
struct ConnectionTableTests {
    private static func address(_ number: Int) -> NetworkAddress {
        NetworkAddress(high: 0x2001_0DB8_0000_0000 + UInt64(number), low: 1)
    }

    private func table(connections: Int = 100, perParty: Int = 100, bytes: Int = 1000, bytesPerParty: Int = 1000)
        -> ConnectionTable
    {
        ConnectionTable(
            .init(
                connections: connections, connectionsPerParty: perParty, bytes: bytes, bytesPerParty: bytesPerParty))
    }

    private func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds) }

    private func admit(
        _ number: Int, to table: inout ConnectionTable, at second: Int64 = 0, isTrusted: Bool = false
    ) -> (slot: Int?, yields: Int?) {
        switch table.add(from: Self.address(number), isTrusted: isTrusted, at: at(second)) {
        case .admitted(let slot, let yields, _): (slot, yields)
        case .refused: (nil, nil)
        }
    }

    @Test("lets the one yield that has been silent for longest, however many are silent")
    func silent() {
        var table = table(connections: 3)
        let slots = (1...3).compactMap { admit($0, to: &table).slot }
        table.move(slots[0], to: .arriving, at: at(0))
        #expect(admit(4, to: &table).yields == slots[1])
        #expect(table.isLeaving(slots[1]))
        #expect(admit(5, to: &table).yields == slots[2])
        #expect(table.count == 3)
        // One that was told to go and goes has made room already.
        table.remove(slots[1])
        #expect(table.count == 3)
    }

    @Test("lets who is slow yield before who waits to be needed again, and never who waits for his answer")
    func order() {
        var table = table(connections: 4)
        let slots = (1...4).compactMap { admit($0, to: &table).slot }
        table.move(slots[0], to: .idle, at: at(0))
        table.move(slots[1], to: .arriving, at: at(1))
        table.move(slots[2], to: .answering, at: at(0))
        table.move(slots[3], to: .arriving, at: at(9))
        #expect(admit(5, to: &table, at: 9).yields == slots[1])
        // The new one is silent, and yields to the next.
        let sixth = admit(6, to: &table, at: 9)
        table.move(sixth.slot ?? -1, to: .answering, at: at(9))
        #expect(admit(7, to: &table, at: 9).yields == slots[0])
        table.move(slots[3], to: .answering, at: at(9))
        let last = admit(8, to: &table, at: 9)
        table.move(last.slot ?? -1, to: .answering, at: at(9))
        #expect(admit(9, to: &table, at: 99).slot == nil)
    }

    @Test("lets who asks without hearing yield before anybody else, also before who has not spoken yet")
    func deaf() {
        var table = table(connections: 4)
        let slots = (1...4).compactMap { admit($0, to: &table).slot }
        table.move(slots[0], to: .arriving, at: at(0))
        table.move(slots[1], to: .deaf, at: at(8))
        table.move(slots[2], to: .deaf, at: at(9))
        #expect(admit(5, to: &table, at: 9).yields == slots[1])
        // Who reads again counts for what he does.
        table.move(slots[2], to: .answering, at: at(10))
        #expect(admit(6, to: &table, at: 10).yields == slots[3])
        table.move(slots[2], to: .deaf, at: at(11))
        #expect(admit(7, to: &table, at: 11).yields == slots[2])
        // A proxy of ours reads; where it does not, no other connection would be the better one to keep.
        var proxied = self.table(connections: 1)
        let proxy = admit(1, to: &proxied, isTrusted: true).slot ?? -1
        proxied.move(proxy, to: .deaf, at: at(0))
        #expect(admit(2, to: &proxied, at: 9).slot == nil)
    }

    @Test("lets those who hold many connections yield before who has few and was not heard yet")
    func flood() {
        for phase in [ConnectionTable.Phase.silent, .idle, .arriving] {
            var table = table(connections: ConnectionTable.fewConnections + 2)
            // Honest, and the first of all: he has connected, and not yet been heard.
            let honest = admit(1, to: &table).slot ?? -1
            for _ in 0...ConnectionTable.fewConnections {
                table.move(admit(2, to: &table).slot ?? -1, to: phase, at: at(0))
            }
            #expect(admit(3, to: &table).yields != honest && !table.isLeaving(honest), "\(phase)")
        }
    }

    @Test("takes back first what those hold who ask without hearing, however little it is")
    func deafBytes() {
        var table = table(bytes: 1000)
        let slots = (1...3).compactMap { admit($0, to: &table).slot }
        table.move(slots[0], to: .arriving, at: at(0))
        #expect(table.hold(800, by: slots[0]).isHeld)
        #expect(table.hold(100, by: slots[1]).isHeld)
        table.move(slots[1], to: .deaf, at: at(0))
        let more = table.hold(200, by: slots[2])
        #expect(more.isHeld && more.yields == [slots[1]] && table.bytes == 1000)
        // He himself is refused.
        table.move(slots[2], to: .deaf, at: at(0))
        let own = table.hold(1, by: slots[2])
        #expect(!own.isHeld && own.yields.isEmpty)
    }

    @Test("bounds the connections of one address, which yield to each other and to nobody else's cost")
    func perParty() {
        var table = table(connections: 100, perParty: 2)
        let other = admit(1, to: &table)
        let first = admit(2, to: &table)
        let second = admit(2, to: &table)
        #expect(admit(2, to: &table).yields == first.slot)
        table.move(second.slot ?? -1, to: .answering, at: at(0))
        #expect(!table.isLeaving(other.slot ?? -1))
        // A proxy of ours speaks for many.
        for _ in 0..<50 { #expect(admit(2, to: &table, isTrusted: true) != (nil, nil)) }
    }

    @Test("counts what is held, and lets the greediest request yield that is still on its way")
    func bytes() {
        var table = table(bytes: 1000)
        let slots = (1...4).compactMap { admit($0, to: &table).slot }
        for slot in slots { table.move(slot, to: .arriving, at: at(0)) }
        #expect(table.hold(600, by: slots[0]).isHeld)
        #expect(table.hold(300, by: slots[1]).isHeld)
        table.move(slots[0], to: .answering, at: at(0))
        let more = table.hold(200, by: slots[2])
        #expect(more.isHeld && more.yields == [slots[1]])
        #expect(table.bytes == 800)
        // Who holds most himself is refused himself.
        let most = table.hold(300, by: slots[3])
        #expect(!most.isHeld && most.yields.isEmpty)
        table.release(600, by: slots[0])
        #expect(table.hold(300, by: slots[3]).isHeld)
        for slot in slots { table.remove(slot) }
        #expect(table.bytes == 0 && table.count == 0)
    }

    @Test("gives one address a share of what may be held, and no more")
    func share() {
        var table = table(bytes: 1000, bytesPerParty: 250)
        let stranger = admit(1, to: &table).slot ?? -1
        let other = admit(2, to: &table).slot ?? -1
        #expect(table.hold(250, by: stranger).isHeld)
        #expect(!table.hold(1, by: stranger).isHeld)
        #expect(table.hold(250, by: other).isHeld)
        table.release(250, by: stranger)
        #expect(table.hold(250, by: stranger).isHeld)
    }
}
