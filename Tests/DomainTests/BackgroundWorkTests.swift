import Base
import Testing

struct BackgroundWorkTests {
    @Test("work and its rest together last ten times as long as the work, so that it takes a tenth of a core")
    func rest() {
        let work = Duration.milliseconds(137)
        #expect(work + BackgroundWork.rest(after: work) == work * 10)
        #expect(BackgroundWork.rest(after: .zero) == .zero)
    }
}
